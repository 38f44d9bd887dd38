/**
 * The tables of the API document, transcribed independently: `!` is required, `?` nullable. The
 * platform's document and answers are compared with them.
 */

/** §2.1 to §2.5 */
export const RESOURCES: Readonly<Record<string, string>> = {
  Ticket: `id:uuid! number:integer! name:string! status:enum priority:integer summary:string
    agent_id:uuid?! assignee_id:uuid?! contact_id:uuid?! conversation_id:uuid?! message_id:uuid?!
    label_id:uuid?! sublabel_id:uuid?! completed_at:date-time? last_message_at:date-time?
    last_message_content:string is_test:boolean? remote_id:string? remote_platform:string?
    created_at:date-time! updated_at:date-time!`,
  Message: `id:uuid! conversation_id:uuid?! ticket_id:uuid?! contact_id:uuid?! agent_id:uuid?!
    user_id:uuid?! content:string text:string format:enum role:string status:enum type:enum
    remote_id:string? remote_platform:string? created_at:date-time updated_at:date-time!`,
  Conversation: `id:uuid! type:enum! direction:enum status:enum resolution:enum title:string
    agent_id:uuid?! contact_id:uuid?! user_id:uuid?! is_test:boolean remote_id:string?
    remote_platform:string? created_at:date-time! updated_at:date-time!`,
  Contact: `id:uuid! name:string display_name:string company:string role:string email:string?
    phone:string? parent_contact_id:uuid?! is_archived:boolean is_test:boolean
    last_activity_at:date-time? remote_id:string? remote_platform:string? created_at:date-time!
    updated_at:date-time!`,
  Media: `id:uuid! type:string! url:uri! original_name:string permission:enum
    created_at:date-time!`,
};

/** §2 and §3 */
export const VALUES: Readonly<Record<string, string>> = {
  'Ticket.status': 'New Open Completed Archived WaitingUser WaitingContact',
  'Message.format': 'TEXT RICH_TEXT HTML MARKDOWN',
  'Message.status': 'PENDING DELIVERED FAILED HIDDEN',
  'Message.type': 'Internal External',
  'Conversation.type': 'phone_call web_call web_call_demo web_chat email sms comments form',
  'Conversation.direction': 'inbound outbound',
  'Conversation.status': 'new open pending',
  'Conversation.resolution': 'hard soft escalated human merged',
  'Media.permission': 'private public',
};

const ticketFilters = `id:uuid agent_id:uuid assignee_id:uuid conversation_id:uuid
  conversation_id__in:array label_id:uuid priority:integer priority__in:array
  created_at__range:string`;
const paging = 'cursor:string limit:integer';

/** §4: method, path, and the parameters of each operation. */
export const OPERATIONS: Readonly<Record<string, readonly [string, string, string?]>> = {
  createEvent: ['post', '/events/'],
  listTickets: ['get', '/tickets/', `${ticketFilters} ${paging}`],
  getTicket: ['get', '/tickets/{id}/', 'id:uuid!'],
  countTickets: ['get', '/tickets/count/', ticketFilters],
  listMessages: [
    'get',
    '/messages/',
    `conversation_id:uuid conversation_id__in:array ticket_id:uuid ${paging}`,
  ],
  getMessage: ['get', '/messages/{id}/', 'id:uuid!'],
  createMessage: ['post', '/messages/'],
  uploadMedia: ['post', '/media/'],
  getConversation: ['get', '/conversations/{id}/', 'id:uuid!'],
  listContacts: [
    'get',
    '/contacts/',
    `id:uuid id__in:array email:string phone:string is_archived:boolean parent_contact_id:uuid
     parent_contact_id__in:array parent_contact_id__isnull:boolean remote_platform:string
     remote_platform__in:array ${paging}`,
  ],
  getContact: ['get', '/contacts/{id}/', 'id:uuid!'],
};

/** §4.1, §4.7, §4.8: the fields of a body, by the path of their object. */
export const BODIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createEvent: {
    '': 'name:string! description:string event_time:date-time contact:object metric:object',
    contact: 'email:email name:string phone:string remote_id:string',
    metric: `metric_name:string value:number deduping_key:string metric_object_type:string
      metric_object_id:uuid context_object_type:string context_object_id:uuid
      additional_properties:object`,
  },
  createMessage: {
    '': 'contact:object! conversation:object! message:object!',
    contact: 'email:email? name:string phone:string?',
    conversation: `direction:enum! type:enum id:uuid? agent_contact:string? intent_id:uuid?
      topic_id:uuid? user_id:uuid?`,
    message: `content:string! format:enum attachments:array remote_id:string?
      timestamp:date-time? email:object`,
    'message.email': `subject:string in_reply_to:string references:array cc:array bcc:array`,
    'message.email.cc': 'email:email name:string',
    'message.email.bcc': 'email:email name:string',
  },
  uploadMedia: { '': 'file:string! permission:enum' },
};
