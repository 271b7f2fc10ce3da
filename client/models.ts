import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';

export type Model = components['schemas']['Model'];
export type ModelVoice = components['schemas']['ModelVoice'];

/** The models that the key may use. */
export class Models {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the models with their protocols, unit and system voices. `GET /v1/models` */
  async list(options: CallOptions = {}): Promise<Model[]> {
    return (await this.#caller.call('listModels', options)).data;
  }

  /** Retrieves a model, including the caller's own voices. `GET /v1/models/{id}` */
  retrieve(id: string, options: CallOptions = {}): Promise<Model> {
    return this.#caller.call('getModel', { ...options, params: { path: { model: id } } });
  }
}
