import { computed, type ReadonlySignal, signal } from '@preact/signals';

/** The only sound of the page: starting another one pauses it. */
let current: HTMLAudioElement | undefined;

/** An audio element as signals, with the time of each frame instead of the four times a second of its events. */
export class Playback {
  readonly isPlaying = signal(false);
  readonly seconds = signal(0);
  /** Duration that the decoder measured, which is exact for every format. */
  readonly decodedSeconds = signal<number | undefined>(undefined);
  readonly hasFailed = signal(false);
  readonly #elementSeconds = signal(0);
  #element: HTMLAudioElement | undefined;

  readonly durationSeconds: ReadonlySignal<number> = computed(
    () => this.decodedSeconds.value ?? this.#elementSeconds.value,
  );

  /** Connects an element. Returns a function that stops it. */
  attach(element: HTMLAudioElement): () => void {
    this.#element = element;
    const listeners: readonly (readonly [string, () => void])[] = [
      ['play', () => this.#started(element)],
      ['pause', () => (this.isPlaying.value = false)],
      ['timeupdate', () => (this.seconds.value = element.currentTime)],
      ['durationchange', () => this.#measured(element.duration)],
      ['error', () => (this.hasFailed.value = element.getAttribute('src') !== null)],
    ];
    for (const [name, listener] of listeners) element.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of listeners) element.removeEventListener(name, listener);
      element.pause();
      this.isPlaying.value = false;
    };
  }

  async play(): Promise<void> {
    // Refused without a gesture of the user, or if the page pauses before the data arrives. The button shows the state.
    await this.#element?.play().catch(() => {});
  }

  toggle(): void {
    if (this.#element?.paused) void this.play();
    else this.#element?.pause();
  }

  /** Moves to a time, within the duration. */
  seek(seconds: number): void {
    if (this.#element === undefined) return;
    const time = Math.min(Math.max(seconds, 0), this.durationSeconds.peek());
    this.#element.currentTime = time;
    this.seconds.value = time;
  }

  #started(element: HTMLAudioElement): void {
    if (current !== element) current?.pause();
    current = element;
    this.isPlaying.value = true;
    const follow = () => {
      this.seconds.value = element.currentTime;
      if (!element.paused) requestAnimationFrame(follow);
    };
    follow();
  }

  #measured(duration: number): void {
    if (Number.isFinite(duration)) this.#elementSeconds.value = duration;
  }
}
