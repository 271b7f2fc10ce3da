/** The part of the optional speech engine's interface that is used here; the package ships no types. */
declare module '@echogarden/espeak-ng-emscripten' {
  export interface EngineEvent {
    type: 'word' | 'sentence' | 'phoneme' | 'end' | 'mark' | 'play' | 'msg_terminated' | 'samplerate';
    /** Position in the text in code points, from 1. */
    text_position: number;
    /** Milliseconds from the start of the audio. */
    audio_position: number;
    id?: string | number;
  }

  export interface EngineInstance {
    /** 0 when the voice exists. */
    set_voice(name: string): number;
    set_rate(wordsPerMinute: number): void;
    set_pitch(percent: number): void;
    set_range(percent: number): void;
    /** Calls back with 16-bit samples at 22050 Hz; the text is read as SSML. */
    synthesize(
      text: string,
      onAudio: (samples: Int16Array, events: EngineEvent[]) => boolean | undefined,
    ): void;
  }

  export default function load(): Promise<{ eSpeakNGWorker: new () => EngineInstance }>;
}
