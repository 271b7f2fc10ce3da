/** Messages between the main thread and a speech worker. All values support structured cloning. */

export type AudioFormat = 'wav' | 'pcm' | 'mp3' | 'opus' | 'flac';

export interface AudioSettings {
  format: AudioFormat;
  /** Output samples per second. */
  sampleRate: number;
  channels: 1 | 2;
  /** Bits per second, for mp3 and opus. */
  bitRate?: number;
}

/** One sentence as parameters of the speech engine. */
export interface Utterance {
  text: string;
  /** Engine voice with language and variant, for example `gmw/en-US+f2`. */
  voice: string;
  wordsPerMinute: number;
  /** 0 to 99. 50 is the default of the voice. */
  pitch: number;
  /** Pitch range, 0 to 99. */
  range: number;
  /** Linear amplitude factor. */
  gain: number;
  /** Milliseconds of silence after the sentence. */
  pause: number;
}

export interface Word {
  text: string;
  /** Offsets in the sentence in UTF-16 units, `endIndex` exclusive. */
  beginIndex: number;
  endIndex: number;
  /** Milliseconds from the start of the audio. */
  beginTime: number;
  endTime: number;
}

/** A chunk of encoded audio and the words that start in it. */
export interface AudioChunk {
  data: Uint8Array<ArrayBuffer>;
  words: Word[];
}

export type Command =
  | { kind: 'open'; streamId: number; audio: AudioSettings }
  | { kind: 'speak'; streamId: number; utterance: Utterance; last: boolean }
  | { kind: 'finish'; streamId: number }
  | { kind: 'close'; streamId: number };

/** Every command except `close` gets one reply, in order. */
export type Reply =
  | { kind: 'opened' }
  | { kind: 'spoken'; chunks: AudioChunk[] /** Seconds of audio. */; seconds: number }
  | { kind: 'failed'; reason: 'engine_missing' | 'internal'; message: string };
