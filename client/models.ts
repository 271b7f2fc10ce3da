import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import type { AnyModel } from './model-ids.ts';
import { PagePromise } from './page-promise.ts';

export type Model = components['schemas']['Model'];
export type ModelVoice = components['schemas']['ModelVoice'];

/** The models that the key may use. */
export class Models {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the models with their protocols, unit and system voices. `GET /v1/models` */
  list(options: CallOptions = {}): PagePromise<Model, Model[]> {
    return new PagePromise({
      load: async () => (await this.#caller.call('listModels', options)).data,
      itemsOf: (models) => models,
      next: () => undefined,
    });
  }

  /** Retrieves a model, including the caller's own voices. `GET /v1/models/{id}` */
  retrieve(id: AnyModel, options: CallOptions = {}): Promise<Model> {
    return this.#caller.call('getModel', { ...options, params: { path: { model: id } } });
  }
}
