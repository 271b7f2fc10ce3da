/** Properties of a media file. Sizes are in bytes, sides in pixels, lengths in seconds. */

export type MediaKind = 'image' | 'video' | 'audio';

export interface ImageFacts {
  kind: 'image';
  /** For example `png`. */
  format: string;
  size: number;
  width: number;
  height: number;
}

export interface VideoFacts {
  kind: 'video';
  format: string;
  size: number;
  width: number;
  height: number;
  seconds: number;
  /** Average frames per second. */
  frameRate: number;
  /** True if the file has an audio track. */
  audio: boolean;
}

export interface AudioFacts {
  kind: 'audio';
  format: string;
  size: number;
  seconds: number;
}

export type MediaFacts = ImageFacts | VideoFacts | AudioFacts;
export type FactsOf<Kind extends MediaKind> = Extract<MediaFacts, { kind: Kind }>;
