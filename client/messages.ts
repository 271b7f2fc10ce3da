import type { MessageErrorEvent, MessagesStreamServerEvent } from '../generated/events.ts';
import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { EventStream } from './event-stream.ts';

type Schemas = components['schemas'];
export type Message = Schemas['Message'];
export type MessagePrompt = Schemas['MessagePrompt'];
export type MessageRequest = Omit<Schemas['MessageRequest'], 'stream'>;

/** A piece of a message; the usage of the last one counts all of it. Error events are thrown. */
export type MessageEvent = Exclude<MessagesStreamServerEvent, MessageErrorEvent>;

/** Conversations. `headers` may name a `compat-beta`, or another `compat-version` than 2023-06-01. */
export class Messages {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Continues a conversation by one message. `POST /v1/messages` */
  create(body: MessageRequest, options: CallOptions = {}): Promise<Message> {
    return this.#caller.call('createMessage', { ...options, params: versioned(options), body });
  }

  /** The same as events, while it is written. */
  events(body: MessageRequest, options: CallOptions = {}): EventStream<MessageEvent> {
    const request = { ...body, stream: true };
    const init = { ...options, params: versioned(options), body: request, parseAs: 'stream' } as const;
    return new EventStream(async () => (await this.#caller.callWithReply('createMessage', init)).response);
  }

  /** Counts the tokens of a conversation; nothing is written. `POST /v1/messages/count_tokens` */
  async countTokens(body: MessagePrompt, options: CallOptions = {}): Promise<number> {
    const init = { ...options, params: versioned(options), body };
    return (await this.#caller.call('countMessageTokens', init)).input_tokens;
  }
}

function versioned({ headers = {} }: CallOptions) {
  return { header: { 'compat-version': headers['compat-version'] ?? '2023-06-01' } };
}
