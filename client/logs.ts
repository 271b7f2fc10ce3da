import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type LogItem = Schemas['LogItem'];
export type LogPage = Schemas['LogSearchReply']['data'];
export type LogQuery = NonNullable<operations['searchLogs']['parameters']['query']>;

/** The calls of one's own user and what they cost. */
export class Logs {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** One page of the entries that a keyword finds, or of all, within a time where one is given, newest first. `GET /api/log/search` */
  async search(query: LogQuery = {}, options: CallOptions = {}): Promise<LogPage> {
    return (await this.#caller.call('searchLogs', { ...options, params: { query } })).data;
  }
}
