import type { components } from '../generated/http.ts';
import type { Caller, CallOptions, OperationData } from './call.ts';

type Schemas = components['schemas'];
export type Health = Schemas['HealthReply'];

/** The gateway itself. These calls need no key. */
export class Service {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Checks that the process runs. `GET /healthz` */
  health(options: CallOptions = {}): Promise<Health> {
    return this.#caller.call('getHealth', options);
  }

  /** Checks that the gateway accepts traffic. Throws ServiceUnavailableError if not. `GET /readyz` */
  readiness(options: CallOptions = {}): Promise<Health> {
    return this.#caller.call('getReadiness', { maxRetries: 0, ...options });
  }

  /** Returns the OpenAPI document. `GET /openapi.json` */
  openApiDocument(options: CallOptions = {}): Promise<OperationData<'getOpenApiDocument', []>> {
    return this.#caller.call('getOpenApiDocument', options);
  }

  /** Returns the AsyncAPI document of sockets, streams and callbacks. `GET /asyncapi.json` */
  asyncApiDocument(options: CallOptions = {}): Promise<OperationData<'getAsyncApiDocument', []>> {
    return this.#caller.call('getAsyncApiDocument', options);
  }
}
