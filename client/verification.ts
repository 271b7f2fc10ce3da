import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type VerificationSession = Schemas['VerificationSession'];
export type VerificationRequest = Schemas['VerificationRequest'];

/** The result code from the redirect of the end user. It only makes the gateway query the provider. */
export interface VerificationOptions extends CallOptions {
  resultCode?: number;
}

/** Identity verification of end users. */
export class Verification {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Creates a verification session. Its `h5_link` is the page for the end user.
   * `POST /api/resource-channel/vendorx/visual-validate/sessions`
   */
  async create(body: VerificationRequest = {}, options: CallOptions = {}): Promise<VerificationSession> {
    // A retry after a lost response would create and charge a second session.
    const init = { maxRetries: 0, ...options, body };
    return (await this.#caller.call('createVerificationSession', init)).data;
  }

  /** Retrieves a session. `GET /api/resource-channel/vendorx/visual-validate/sessions/{session_id}` */
  async retrieve(
    id: string,
    { resultCode, ...options }: VerificationOptions = {},
  ): Promise<VerificationSession> {
    const params = { path: { session_id: id }, query: { result_code: resultCode } };
    return (await this.#caller.call('getVerificationSession', { ...options, params })).data;
  }
}
