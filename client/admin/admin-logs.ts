import type { components, operations } from '../../generated/http.ts';
import { BinaryResponse } from '../binary-response.ts';
import type { Caller, CallOptions } from '../call.ts';

type Schemas = components['schemas'];
export type LogExportQuery = NonNullable<operations['exportLogs']['parameters']['query']>;

/** A line of the log in the JSON Lines format. */
export type ExportedEntry = Schemas['ExportedEntry'];

/** The request log of all users. */
export class AdminLogs {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Streams the matching entries, oldest first, as JSON Lines or CSV. If the export breaks off, reading its body throws.
   * `GET /api/admin/logs/export`
   */
  async export(query: LogExportQuery = {}, options: CallOptions = {}): Promise<BinaryResponse> {
    const init = { ...options, params: { query }, parseAs: 'stream' } as const;
    return new BinaryResponse((await this.#caller.callWithResponse('exportLogs', init)).response);
  }
}
