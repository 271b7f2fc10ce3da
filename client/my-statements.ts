import type { components } from '../generated/http.ts';
import { BinaryResponse } from './binary-response.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type Statement = Schemas['Statement'];
export type StatementMonth = Schemas['StatementMonth'];
/** CSV for spreadsheets, or HTML for printing. */
export type StatementFile = 'csv' | 'html';

/** The monthly statements of the user of the key. */
export class MyStatements {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the months with statements, newest first. `GET /api/me/statements` */
  async list(options: CallOptions = {}): Promise<StatementMonth[]> {
    return (await this.#caller.call('listMyStatements', options)).data.items;
  }

  /** Retrieves the statement of a month, such as 2026-11. `GET /api/me/statements/{month}` */
  async retrieve(month: string, options: CallOptions = {}): Promise<Statement> {
    const params = { path: { month }, query: { format: 'json' } } as const;
    return (await this.#caller.call('getMyStatement', { ...options, params })).data;
  }

  /** Downloads the statement of a month as CSV or as a page for printing. `GET /api/me/statements/{month}` */
  async download(month: string, format: StatementFile, options: CallOptions = {}): Promise<BinaryResponse> {
    const init = { ...options, params: { path: { month }, query: { format } }, parseAs: 'stream' } as const;
    return new BinaryResponse((await this.#caller.callWithResponse('getMyStatement', init)).response);
  }
}
