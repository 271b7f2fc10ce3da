import { BinaryResponse } from '../binary-response.ts';
import type { Caller, CallOptions } from '../call.ts';
import type { Statement, StatementFile, StatementMonth } from '../my-statements.ts';

/** The monthly statements of users. */
export class UserStatements {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the months with statements of a user, newest first. `GET /api/admin/users/{id}/statements` */
  async list(id: number, options: CallOptions = {}): Promise<StatementMonth[]> {
    return (await this.#caller.call('listUserStatements', { ...options, params: { path: { id } } })).data
      .items;
  }

  /** Retrieves the statement of a user for a month. `GET /api/admin/users/{id}/statements/{month}` */
  async retrieve(id: number, month: string, options: CallOptions = {}): Promise<Statement> {
    const params = { path: { id, month }, query: { format: 'json' } } as const;
    return (await this.#caller.call('getUserStatement', { ...options, params })).data;
  }

  /** Downloads it as CSV or as a page for printing. `GET /api/admin/users/{id}/statements/{month}` */
  async download(
    id: number,
    month: string,
    format: StatementFile,
    options: CallOptions = {},
  ): Promise<BinaryResponse> {
    const params = { path: { id, month }, query: { format } } as const;
    const init = { ...options, params, parseAs: 'stream' } as const;
    return new BinaryResponse((await this.#caller.callWithResponse('getUserStatement', init)).response);
  }
}
