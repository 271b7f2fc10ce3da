import { useEffect, useRef } from 'preact/hooks';
import { formatNumber } from '../parts/numbers.tsx';

const frameCount = 8;
const frameWidth = 160;

interface FramesProps {
  url: string;
  /** Length of the video in seconds. */
  duration: number;
  onSeek: (seconds: number) => void;
}

/** A strip of frames at equal distances. A click on one of them seeks the player. */
export function Frames({ url, duration, onSeek }: FramesProps) {
  const strip = useRef<HTMLDivElement>(null);
  const times = Array.from({ length: frameCount }, (_, index) => (duration * (index + 0.5)) / frameCount);
  useEffect(() => {
    const abort = new AbortController();
    const canvases = [...(strip.current?.querySelectorAll('canvas') ?? [])];
    void drawFrames(url, times, canvases, abort.signal);
    return () => abort.abort();
  }, [url, duration]);
  return (
    <div ref={strip} class="frames" role="group" aria-label="Frames">
      {times.map((time) => (
        <button key={time} type="button" onClick={() => onSeek(time)}>
          <canvas class="skeleton" aria-hidden="true" />
          <span class="numeric">{formatNumber(Math.round(time * 10) / 10)} s</span>
        </button>
      ))}
    </div>
  );
}

/** Draws the frame at each time into the canvas with the same index, one after another. */
async function drawFrames(
  url: string,
  times: readonly number[],
  canvases: readonly HTMLCanvasElement[],
  abort: AbortSignal,
): Promise<void> {
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  // Ends the download when the strip disappears.
  abort.addEventListener('abort', () => video.removeAttribute('src'), { once: true });
  for (const [index, time] of times.entries()) {
    video.currentTime = time;
    await new Promise((resolve) => {
      video.addEventListener('seeked', resolve, { once: true, signal: abort });
      abort.addEventListener('abort', resolve, { once: true });
    });
    const canvas = canvases[index];
    if (abort.aborted || canvas === undefined) return;
    canvas.width = frameWidth;
    canvas.height = Math.round((frameWidth * video.videoHeight) / video.videoWidth);
    canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height);
    canvas.classList.remove('skeleton');
  }
  video.removeAttribute('src');
}
