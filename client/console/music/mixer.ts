import { effect, type Signal, signal } from '@preact/signals';
import { Playback } from '../parts/playback.ts';

/** The fader of one sound. */
export interface Fader {
  /** 0 to 1. */
  volume: Signal<number>;
  isMuted: Signal<boolean>;
}

/** Difference above which a sound is moved to the position of the first one, in seconds. */
const maxDriftSeconds = 0.05;

/** Plays sounds in sync, each with its own volume. The first sound is the clock of the others. */
export class Mixer {
  readonly playback = new Playback();
  readonly faders: readonly Fader[];

  constructor(count: number) {
    this.faders = Array.from({ length: count }, () => ({ volume: signal(1), isMuted: signal(false) }));
  }

  /** Connects the elements. Returns a function that stops them. */
  attach(elements: readonly HTMLAudioElement[]): () => void {
    const [leader, ...followers] = elements;
    if (leader === undefined) return () => {};
    const detach = this.playback.attach(leader);
    let disconnect: (() => void) | undefined;
    const align = (toleranceSeconds: number) => {
      for (const follower of followers)
        if (Math.abs(follower.currentTime - leader.currentTime) > toleranceSeconds)
          follower.currentTime = leader.currentTime;
    };
    const listeners: readonly (readonly [string, () => void])[] = [
      [
        'play',
        () => {
          // Browsers permit sound only after a gesture, so the graph is made at the first start.
          disconnect ??= this.#connect(elements);
          align(0);
          // A follower that may not start yet is aligned and started by the next event of the leader.
          for (const follower of followers) void follower.play().catch(() => {});
        },
      ],
      ['pause', () => followers.forEach((follower) => follower.pause())],
      ['seeking', () => align(0)],
      ['timeupdate', () => align(maxDriftSeconds)],
    ];
    for (const [name, listener] of listeners) leader.addEventListener(name, listener);
    return () => {
      detach();
      for (const [name, listener] of listeners) leader.removeEventListener(name, listener);
      for (const follower of followers) follower.pause();
      disconnect?.();
    };
  }

  /** Routes each element through a gain node, because some browsers ignore the volume of an element. */
  #connect(elements: readonly HTMLAudioElement[]): () => void {
    const context = new AudioContext();
    const dispose = elements.map((element, index) => {
      const gain = context.createGain();
      context.createMediaElementSource(element).connect(gain).connect(context.destination);
      const fader = this.faders[index];
      return effect(() => {
        gain.gain.value = fader === undefined || fader.isMuted.value ? 0 : fader.volume.value;
      });
    });
    return () => {
      dispose.forEach((end) => end());
      void context.close();
    };
  }
}
