/** The part of the interface of the optional speech engine that is used here. The package has no types. */
declare module '@echogarden/espeak-ng-emscripten' {
  export interface EngineEvent {
    type: 'word' | 'sentence' | 'phoneme' | 'end' | 'mark' | 'play' | 'msg_terminated' | 'samplerate';
    /** Position in the text in code points, starting with 1. */
    text_position: number;
    /** Milliseconds from the start of the audio. */
    audio_position: number;
    id?: string | number;
  }

  export interface EngineInstance {
    /** Returns 0 if the voice exists. */
    set_voice(name: string): number;
    set_rate(wordsPerMinute: number): void;
    set_pitch(percent: number): void;
    set_range(percent: number): void;
    /** Parses the text as SSML and calls back with 16-bit samples at 22050 Hz. */
    synthesize(
      text: string,
      onAudio: (samples: Int16Array, events: EngineEvent[]) => boolean | undefined,
    ): void;
  }

  export default function load(): Promise<{ eSpeakNGWorker: new () => EngineInstance }>;
}
