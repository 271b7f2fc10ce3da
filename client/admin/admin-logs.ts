import type { components, operations } from '../../generated/http.ts';
import { ByteAnswer } from '../byte-answer.ts';
import type { Caller, CallOptions } from '../call.ts';

type Schemas = components['schemas'];
export type LogExportQuery = NonNullable<operations['exportLogs']['parameters']['query']>;

/** A line of the log as JSON lines. */
export type ExportedEntry = Schemas['ExportedEntry'];

/** The request log of all users. */
export class AdminLogs {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * The entries that match, oldest first, as JSON lines or CSV, while they are read. An export that breaks off throws
   * where its bytes are read. `GET /api/admin/logs/export`
   */
  async export(query: LogExportQuery = {}, options: CallOptions = {}): Promise<ByteAnswer> {
    const init = { ...options, params: { query }, parseAs: 'stream' } as const;
    return new ByteAnswer((await this.#caller.callWithReply('exportLogs', init)).response);
  }
}
