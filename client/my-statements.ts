import type { components } from '../generated/http.ts';
import { BinaryResponse } from './binary-response.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type Statement = Schemas['Statement'];
export type StatementMonth = Schemas['StatementMonth'];
/** CSV for spreadsheets, or HTML for printing. */
export type StatementFile = 'csv' | 'html';

/** Selects a sub-account of the user. */
export interface OfAccount {
  /** Id of a sub-account. Undefined: the user with its sub-accounts. */
  accountId?: number | undefined;
}

/** The monthly statements of the user of the key. */
export class MyStatements {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the months with statements, newest first. `GET /api/me/statements` */
  async list(options: CallOptions & OfAccount = {}): Promise<StatementMonth[]> {
    const { accountId: account_id, ...rest } = options;
    return (await this.#caller.call('listMyStatements', { ...rest, params: { query: { account_id } } })).data
      .items;
  }

  /** Retrieves the statement of a month, such as 2026-11. `GET /api/me/statements/{month}` */
  async retrieve(month: string, options: CallOptions & OfAccount = {}): Promise<Statement> {
    const { accountId: account_id, ...rest } = options;
    const params = { path: { month }, query: { format: 'json', account_id } } as const;
    return (await this.#caller.call('getMyStatement', { ...rest, params })).data;
  }

  /** Downloads the statement of a month as CSV or as a page for printing. `GET /api/me/statements/{month}` */
  async download(
    month: string,
    format: StatementFile,
    options: CallOptions & OfAccount = {},
  ): Promise<BinaryResponse> {
    const { accountId: account_id, ...rest } = options;
    const params = { path: { month }, query: { format, account_id } };
    const init = { ...rest, params, parseAs: 'stream' } as const;
    return new BinaryResponse((await this.#caller.callWithResponse('getMyStatement', init)).response);
  }
}
