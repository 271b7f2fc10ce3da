import type { components } from '../generated/http.ts';
import type { Answer, Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type Health = Schemas['HealthReply'];

/** The gateway itself; none of these calls needs a key. */
export class Service {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Whether the process runs. `GET /healthz` */
  health(options: CallOptions = {}): Promise<Health> {
    return this.#caller.call('getHealth', options);
  }

  /** Whether it takes traffic; throws ServiceUnavailableError while it does not. `GET /readyz` */
  readiness(options: CallOptions = {}): Promise<Health> {
    return this.#caller.call('getReadiness', { maxRetries: 0, ...options });
  }

  /** The contract over HTTP. `GET /openapi.json` */
  openApiDocument(options: CallOptions = {}): Promise<Answer<'getOpenApiDocument', []>> {
    return this.#caller.call('getOpenApiDocument', options);
  }

  /** The contract of sockets, streams and callbacks. `GET /asyncapi.json` */
  asyncApiDocument(options: CallOptions = {}): Promise<Answer<'getAsyncApiDocument', []>> {
    return this.#caller.call('getAsyncApiDocument', options);
  }
}
