import { ByteAnswer } from './byte-answer.ts';

/** Spoken audio. */
export class SpeechAudio extends ByteAnswer {}
