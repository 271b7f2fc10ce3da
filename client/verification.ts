import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type VerificationSession = Schemas['VerificationSession'];
export type VerificationRequest = Schemas['VerificationRequest'];

/** What the browser of the end user brought back; it is never believed and only makes the gateway ask. */
export interface VerificationOptions extends CallOptions {
  resultCode?: number;
}

/** Live-person checks of end users. */
export class Verification {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Starts a check; its `h5_link` is the page for the end user.
   * `POST /api/resource-channel/vendorx/visual-validate/sessions`
   */
  async create(body: VerificationRequest = {}, options: CallOptions = {}): Promise<VerificationSession> {
    // A repeat after a lost answer would be a second session, and be paid for.
    const init = { maxRetries: 0, ...options, body };
    return (await this.#caller.call('createVerificationSession', init)).data;
  }

  /** The check as it stands. `GET /api/resource-channel/vendorx/visual-validate/sessions/{session_id}` */
  async retrieve(
    id: string,
    { resultCode, ...options }: VerificationOptions = {},
  ): Promise<VerificationSession> {
    const params = { path: { session_id: id }, query: { result_code: resultCode } };
    return (await this.#caller.call('getVerificationSession', { ...options, params })).data;
  }
}
