import { useSignal } from '@preact/signals';
import { Download } from 'lucide';
import { useRef } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { formatDuration } from '../parts/numbers.tsx';
import type { VideoResult } from './formats.ts';
import { Frames } from './frames.tsx';

/** A finished video: player, frames and download. */
export function VideoView({ result: { id, url, frameUrl } }: { result: VideoResult }) {
  const player = useRef<HTMLVideoElement>(null);
  const size = useSignal<{ width: number; height: number; duration: number } | undefined>(undefined);
  const isBlocked = useSignal(false);
  if (url === undefined) return <p class="secondary">The task has no video file any more.</p>;
  const seek = (seconds: number) => {
    if (player.current !== null) player.current.currentTime = seconds;
  };
  return (
    <>
      {/* biome-ignore lint/a11y/useMediaCaption: Generated videos have no captions. */}
      <video
        ref={player}
        class="video-player"
        src={url}
        controls
        playsInline
        loop
        aria-label="Generated video"
        onLoadedMetadata={({ currentTarget: { videoWidth: width, videoHeight: height, duration } }) => {
          size.value = { width, height, duration };
        }}
        onError={() => {
          isBlocked.value = true;
        }}
      />
      {isBlocked.value && (
        <p class="notice notice-warning" role="status">
          The browser cannot play this file. It may have expired, or be at a host that the console may not
          use.
        </p>
      )}
      {size.value && <Frames url={url} duration={size.value.duration} onSeek={seek} />}
      <div class="row-between">
        <span class="secondary numeric">
          {size.value &&
            `${size.value.width} × ${size.value.height} px, ${formatDuration(size.value.duration * 1_000)}`}
        </span>
        <span class="row">
          {frameUrl && (
            <a class="button button-small" href={frameUrl} download={`${id}.png`}>
              <Icon node={Download} />
              Last frame
            </a>
          )}
          <a class="button button-small" href={url} download={`${id}.mp4`}>
            <Icon node={Download} />
            Download
          </a>
        </span>
      </div>
    </>
  );
}
