import { Download, Pause, Play } from 'lucide';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useRun } from '../calls/run.ts';
import { gatewayUrl } from '../session/session.ts';
import './audio-player.css';
import { Bars } from './bars.tsx';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { formatClock } from './numbers.tsx';
import { Playback } from './playback.ts';
import { type TimedWord, TimedWords } from './timed-words.tsx';
import { readWaveform, type Waveform } from './waveform.ts';

interface AudioPlayerProps {
  /** The file, or its address. */
  source: Blob | string;
  /** Names the sound in the labels of the controls. */
  label: string;
  /** Name of the downloaded file. */
  fileName: string;
  /** Words, or lines of lyrics, which are highlighted while they are spoken. */
  words?: readonly TimedWord[];
  autoPlay?: boolean;
  /** Receives the exact duration, once the sound is decoded. */
  onDuration?: (seconds: number) => void;
}

const stepSeconds: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

/** A sound with its waveform, which is also the control to seek. */
export function AudioPlayer({ source, label, fileName, words, autoPlay, onDuration }: AudioPlayerProps) {
  const playback = useMemo(() => new Playback(), [source]);
  const url = useMemo(() => (typeof source === 'string' ? source : URL.createObjectURL(source)), [source]);
  const element = useRef<HTMLAudioElement>(null);
  const waveform = useRun<Waveform>();
  useEffect(() => {
    const detach = element.current ? playback.attach(element.current) : undefined;
    void waveform.start(async (abort) => {
      const measured = await readWaveform(await fileOf(source, abort));
      playback.decodedSeconds.value = measured.durationSeconds;
      onDuration?.(measured.durationSeconds);
      return measured;
    });
    if (autoPlay) void playback.play();
    return () => {
      detach?.();
      if (typeof source !== 'string') URL.revokeObjectURL(url);
    };
  }, [source]);
  const state = waveform.state.value;
  const isPlaying = playback.isPlaying.value;
  return (
    <div class="player" role="group" aria-label={label}>
      <audio ref={element} src={url} preload="metadata" />
      <Button
        variant="primary"
        icon={isPlaying ? Pause : Play}
        label={isPlaying ? `Pause ${label}` : `Play ${label}`}
        onClick={() => playback.toggle()}
      />
      <Timeline
        playback={playback}
        label={`Position in ${label}`}
        peaks={state.status === 'done' ? state.result.peaks : undefined}
      />
      <a class="button button-plain button-icon" href={url} download={fileName} title="Download">
        <Icon node={Download} />
        <span class="visually-hidden">Download {fileName}</span>
      </a>
      {playback.hasFailed.value && (
        <p class="field-error" role="alert">
          The browser cannot play this file. Download it instead.
        </p>
      )}
      {words && words.length > 0 && (
        <TimedWords words={words} playback={playback} label={`Text of ${label}`} />
      )}
    </div>
  );
}

/** The position in a sound, as a slider over its waveform. */
export function Timeline({
  playback,
  label,
  peaks,
}: {
  playback: Playback;
  label: string;
  peaks: readonly number[] | undefined;
}) {
  const duration = playback.durationSeconds.value;
  const seconds = Math.min(playback.seconds.value, duration);
  const seekTo = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    playback.seek(((event.clientX - left) / width) * duration);
  };
  const seekByKey = (event: KeyboardEvent) => {
    const step = stepSeconds[event.key];
    if (step !== undefined) playback.seek(playback.seconds.peek() + step);
    else if (event.key === 'Home') playback.seek(0);
    else if (event.key === 'End') playback.seek(duration);
    else if (event.key === ' ') playback.toggle();
    else return;
    event.preventDefault();
  };
  const times = `${formatClock(seconds)} / ${formatClock(duration)}`;
  return (
    <>
      <div
        class="waveform"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.round(duration)}
        aria-valuenow={Math.round(seconds)}
        aria-valuetext={`${formatClock(seconds)} of ${formatClock(duration)}`}
        style={{ '--played': `${duration === 0 ? 0 : (seconds / duration) * 100}%` }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          seekTo(event);
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) seekTo(event);
        }}
        onKeyDown={seekByKey}
      >
        <Bars peaks={peaks} />
        <Bars peaks={peaks} isPlayed />
      </div>
      <span class="player-time numeric">{times}</span>
    </>
  );
}

/** Returns the file. Media of other hosts can be played but not read. */
async function fileOf(source: Blob | string, signal: AbortSignal): Promise<Blob> {
  if (typeof source !== 'string') return source;
  const isReadable = ['blob:', 'data:', `${gatewayUrl}/`, '/'].some((start) => source.startsWith(start));
  if (!isReadable) throw new Error('The page cannot read media of another host.');
  const response = await fetch(source, { signal });
  return response.blob();
}
