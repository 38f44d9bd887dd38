// placeholder until the contract lands
export interface CreateMessageRequest {
  contact: object;
}
export interface CreateEventRequest {
  name: string;
}
