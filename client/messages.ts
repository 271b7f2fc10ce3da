import type { MessageErrorEvent, MessagesStreamServerEvent } from '../generated/events.ts';
import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { EventStream } from './event-stream.ts';
import type { WithModelOf } from './model-ids.ts';

type Schemas = components['schemas'];
export type Message = Schemas['Message'];
export type MessagePrompt = WithModelOf<Schemas['MessagePrompt'], 'messages'>;
export type MessageRequest = WithModelOf<Omit<Schemas['MessageRequest'], 'stream'>, 'messages'>;

/** A part of a message. The last event contains the total usage. Error events are thrown. */
export type MessageEvent = Exclude<MessagesStreamServerEvent, MessageErrorEvent>;

/** Conversations. `headers` may set `compat-beta`, or a `compat-version` other than 2023-06-01. */
export class Messages {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Creates the next message of a conversation. `POST /v1/messages` */
  create(body: MessageRequest, options: CallOptions = {}): Promise<Message> {
    return this.#caller.call('createMessage', { ...options, params: versioned(options), body });
  }

  /** Streams the next message as events. */
  events(body: MessageRequest, options: CallOptions = {}): EventStream<MessageEvent> {
    const request = { ...body, stream: true };
    const init = { ...options, params: versioned(options), body: request, parseAs: 'stream' } as const;
    return new EventStream(async () => (await this.#caller.callWithResponse('createMessage', init)).response);
  }

  /** Counts the tokens of a conversation without creating a message. `POST /v1/messages/count_tokens` */
  async countTokens(body: MessagePrompt, options: CallOptions = {}): Promise<number> {
    const init = { ...options, params: versioned(options), body };
    return (await this.#caller.call('countMessageTokens', init)).input_tokens;
  }
}

function versioned({ headers = {} }: CallOptions) {
  return { header: { 'compat-version': headers['compat-version'] ?? '2023-06-01' } };
}
