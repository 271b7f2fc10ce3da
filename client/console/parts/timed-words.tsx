import { useComputed } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Playback } from './playback.ts';

/** A word or a line with its time in the audio. */
export interface TimedWord {
  /** The word with the spaces, punctuation or line break that follow it. */
  text: string;
  startSeconds: number;
  endSeconds: number;
}

interface TimedWordsProps {
  words: readonly TimedWord[];
  playback: Playback;
  /** Accessible name of the text. */
  label: string;
}

/** A text whose current word is highlighted. A click on a word plays from there; the timeline does so by keyboard. */
export function TimedWords({ words, playback, label }: TimedWordsProps) {
  const active = useComputed(() => {
    const { value: seconds } = playback.seconds;
    return words.findIndex(({ startSeconds, endSeconds }) => seconds >= startSeconds && seconds < endSeconds);
  }).value;
  const element = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const word = element.current?.children[active];
    // A text that is longer than its box follows the sound.
    if (word instanceof HTMLElement && playback.isPlaying.peek())
      element.current?.scrollTo(0, word.offsetTop - element.current.clientHeight / 3);
  }, [active]);
  const play = (word: TimedWord) => {
    playback.seek(word.startSeconds);
    void playback.play();
  };
  return (
    <p ref={element} class="timed-words" tabIndex={0} role="region" aria-label={label}>
      {words.map((word, index) => {
        const end = word.text.trimEnd();
        return (
          <Fragment key={index}>
            <span class={index === active ? 'timed-word-active' : undefined} onClick={() => play(word)}>
              {end}
            </span>
            {word.text.slice(end.length)}
          </Fragment>
        );
      })}
    </p>
  );
}
