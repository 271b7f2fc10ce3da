import type { ModelId, ProtocolModels } from '../generated/catalogue.ts';

export type { ModelId } from '../generated/catalogue.ts';

/** A known model id, which editors complete, or another one. */
export type AnyModel<Known extends string = ModelId> = Known | (string & Record<never, never>);

/** A request body whose model ids editors complete: those of the models with one of the protocols. */
export type WithModelOf<Body, Protocol extends keyof ProtocolModels> = Body & {
  model?: AnyModel<ProtocolModels[Protocol]>;
};

/** A model that speaks on a realtime socket. */
export type RealtimeModel = AnyModel<ProtocolModels['realtime']>;

/** A model that speaks on an inference socket. */
export type InferenceModel = AnyModel<ProtocolModels['inference']>;

/** A model that speaks. */
export type SpeechModel = AnyModel<ProtocolModels['synthesizer' | 'multimodal' | 'inference' | 'realtime']>;
