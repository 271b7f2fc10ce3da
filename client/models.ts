import type { components } from '../generated/http.ts';
import type { CallOptions } from './call.ts';
import type { Unigate } from './unigate.ts';

export type Model = components['schemas']['Model'];
export type ModelVoice = components['schemas']['ModelVoice'];

/** The models that the key may use. */
export class Models {
  readonly #client: Unigate;

  constructor(client: Unigate) {
    this.#client = client;
  }

  /** The models by id, with their protocols, unit and system voices. `GET /v1/models` */
  async list(options: CallOptions = {}): Promise<Model[]> {
    return (await this.#client.call('listModels', options)).data;
  }
}
