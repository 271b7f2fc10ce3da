import type { components } from '../../generated/http.ts';

type Schemas = components['schemas'];

/**
 * What a driver keeps of an upstream's answer about a video, the same for every protocol, so that each format can
 * show each model. It holds no upstream id.
 */
export interface VideoResult {
  /** Address of the video, where there is one. */
  video_url?: string;
  /** Where the gateway fetches it itself, when clients are shown another address. */
  source_url?: string;
  /** For the `metadata` of the generic task object. */
  metadata?: Schemas['VideoTaskMetadata'];
  /** The upstream's own words, for the format that is like its protocol. */
  native?: Readonly<Record<string, unknown>>;
}

/** What the gateway remembers of a request for a video, the same for every protocol. */
export interface VideoFacts {
  /** As the client gave them; the generic task object shows them. */
  seconds?: string;
  size?: string;
  prompt?: string;
}
