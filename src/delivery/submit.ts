import { PlatformError } from '../platform-api/errors.ts';
import type { CreatedMessage } from '../platform-api/resources.ts';
import type { CreateMessageRequest } from '../platform-api/schemas.ts';
import type { Entry } from '../spool/entry.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { Conversations } from './conversations.ts';
import { readAnswer, Refused } from './failure.ts';
import type { ShopPlatform } from './shop-platform.ts';
import type { Steps } from './steps.ts';

export interface SubmitParts {
  readonly shop: ShopPlatform;
  readonly conversations: Conversations;
  readonly steps: Steps;
  readonly record: AttemptRecord;
}

export interface Submission {
  readonly request: CreateMessageRequest;
  /** The same content with a line for each attachment, to go without them. */
  readonly plain: CreateMessageRequest;
}

/**
 * Creates the message, and follows the platform's answer as the table in `docs/architecture.md`
 * has it: once more without a conversation that is gone, once more plain when it is refused.
 * @throws {Later} {ConfigurationFault} the entry waits
 * @throws {Refused} the platform will not take it
 */
export async function submit(
  entry: Entry,
  submission: Submission,
  { shop, conversations, steps, record }: SubmitParts,
  signal: AbortSignal,
): Promise<{ message: CreatedMessage | undefined; request: CreateMessageRequest }> {
  const create = async (request: CreateMessageRequest) => {
    record.request(request);
    const { message, status } = await steps.timed('submit', () =>
      shop.call('messages', signal, () => shop.client.createMessage(request, signal)),
    );
    steps.add('submitted', { status });
    return { message, request };
  };

  let { request, plain } = submission;
  let refusal: PlatformError;
  try {
    return await create(request);
  } catch (error) {
    refusal = refusalOf(error);
  }
  if (readAnswer(refusal) === 'gone' && request.conversation.id) {
    steps.add('conversation_gone', { status: refusal.status ?? 0 });
    await conversations.forget(entry);
    request = withoutConversation(request);
    plain = withoutConversation(plain);
    try {
      return await create(request);
    } catch (error) {
      refusal = refusalOf(error);
    }
  }
  if (readAnswer(refusal) !== 'refused') await shop.assertAccepted(signal);
  steps.add('refused', { status: refusal.status ?? 0 });
  try {
    return await create(plain);
  } catch (error) {
    throw new Refused(refusalOf(error));
  }
}

/** Lets everything pass that is not the platform's refusal. */
function refusalOf(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error;
  throw error;
}

function withoutConversation(request: CreateMessageRequest): CreateMessageRequest {
  const { id: _gone, ...conversation } = request.conversation;
  return { ...request, conversation };
}
