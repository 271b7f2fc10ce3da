import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';

type Schemas = components['schemas'];
export type EmbeddingRequest = Schemas['EmbeddingRequest'];
export type EmbeddingListReply = Schemas['EmbeddingListReply'];

/** Text embeddings. */
export class Embeddings {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Creates one vector for each input, in order. `POST /v1/embeddings` */
  create(body: EmbeddingRequest, options: CallOptions = {}): Promise<EmbeddingListReply> {
    return this.#caller.call('createEmbedding', { ...options, body });
  }
}
