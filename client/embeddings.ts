import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import type { WithModelOf } from './model-ids.ts';

type Schemas = components['schemas'];
export type EmbeddingRequest = WithModelOf<Schemas['EmbeddingRequest'], 'embeddings'>;
export type EmbeddingListReply = Schemas['EmbeddingListReply'];
export type EmbeddingFormat = NonNullable<EmbeddingRequest['encoding_format']>;

type EmbeddingItem = EmbeddingListReply['data'][number];

/** Vectors as numbers, or with `base64` as the Base64 of little-endian 32-bit floats. */
export type EmbeddingList<Format extends EmbeddingFormat> = Omit<EmbeddingListReply, 'data'> & {
  data: (Omit<EmbeddingItem, 'embedding'> & { embedding: Format extends 'base64' ? string : number[] })[];
};

/** Text embeddings. */
export class Embeddings {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Creates one vector for each input, in order. `POST /v1/embeddings` */
  async create<Format extends EmbeddingFormat = 'float'>(
    body: EmbeddingRequest & { encoding_format?: Format },
    options: CallOptions = {},
  ): Promise<EmbeddingList<Format>> {
    // `encoding_format` determines the type of the vectors, which the contract cannot express.
    return (await this.#caller.call('createEmbedding', { ...options, body })) as EmbeddingList<Format>;
  }
}
