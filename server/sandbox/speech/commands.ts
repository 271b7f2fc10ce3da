/** What travels between the gateway thread and a speech worker. All of it survives a structured clone. */

export type AudioFormat = 'wav' | 'pcm' | 'mp3' | 'opus' | 'flac';

export interface AudioSettings {
  format: AudioFormat;
  /** Samples a second of the produced audio. */
  sampleRate: number;
  channels: 1 | 2;
  /** Bits a second, for mp3 and opus. */
  bitRate?: number;
}

/** One sentence in the engine's own terms. */
export interface Utterance {
  text: string;
  /** Language and timbre, for example `gmw/en-US+f2`. */
  voice: string;
  wordsPerMinute: number;
  /** 0 to 99, 50 is the voice's own. */
  pitch: number;
  /** Liveliness of the melody, 0 to 99. */
  range: number;
  /** Linear amplitude factor. */
  gain: number;
  /** Milliseconds of silence after the sentence. */
  pause: number;
}

export interface Word {
  text: string;
  /** Offsets into the sentence in UTF-16 units, end exclusive. */
  beginIndex: number;
  endIndex: number;
  /** Milliseconds from the start of the audio. */
  beginTime: number;
  endTime: number;
}

/** A piece of encoded audio and the words that begin in it. */
export interface AudioChunk {
  data: Uint8Array<ArrayBuffer>;
  words: Word[];
}

export type Command =
  | { kind: 'open'; job: number; audio: AudioSettings }
  | { kind: 'speak'; job: number; utterance: Utterance; last: boolean }
  | { kind: 'finish'; job: number }
  | { kind: 'close'; job: number };

/** `close` is not answered; every other command is answered once, in order. */
export type Reply =
  | { kind: 'opened' }
  | { kind: 'spoken'; chunks: AudioChunk[] /** Seconds of audio. */; seconds: number }
  | { kind: 'failed'; reason: 'engine_missing' | 'internal'; message: string };
