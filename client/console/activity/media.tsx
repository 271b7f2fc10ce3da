import { Download } from 'lucide';
import { AudioPlayer } from '../parts/audio-player.tsx';
import { Icon } from '../parts/icon.tsx';

interface File {
  url: string;
  kind: 'video' | 'audio' | 'image' | 'other';
}

const kinds = [
  ['video', /\.(?:mp4|webm|mov)$/i, /video/i],
  ['audio', /\.(?:mp3|wav|m4a|ogg)$/i, /audio/i],
  ['image', /\.(?:png|jpe?g|webp|gif)$/i, /image|cover/i],
  ['other', /\.(?:glb|zip|obj|fbx|usdz)$/i, /model|url/i],
] as const;

/** Returns the files in a response of any format, each once. */
function filesOf(response: unknown): File[] {
  const files = new Map<string, File>();
  const walk = (value: unknown, name: string) => {
    // The address in `content_url` requires the key.
    if (name === 'content_url') return;
    if (typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value)) {
      const { pathname } = new URL(value);
      const found =
        kinds.find(([, extension]) => extension.test(pathname)) ??
        kinds.find(([, , field]) => field.test(name));
      if (found && !files.has(value)) files.set(value, { url: value, kind: found[0] });
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) walk(item, Array.isArray(value) ? name : key);
    }
  };
  walk(response, '');
  return [...files.values()];
}

/** A player, an image or a link for each file of a task. */
export function Media({ response }: { response: unknown }) {
  const files = filesOf(response);
  const images = files.filter(({ kind }) => kind === 'image');
  return (
    <>
      {files.map(({ url, kind }) => (
        <div key={url} class="media">
          {kind === 'video' && <video src={url} controls playsInline preload="metadata" />}
          {kind === 'audio' && <AudioPlayer source={url} label="Result" fileName={nameOf(url)} />}
          {(kind === 'video' || kind === 'other') && (
            <a class="row secondary" href={url} target="_blank" rel="noreferrer">
              <Icon node={Download} />
              {nameOf(url)}
            </a>
          )}
        </div>
      ))}
      {images.length > 0 && (
        <div class="media-images">
          {images.map(({ url }) => (
            <a key={url} href={url} target="_blank" rel="noreferrer">
              <img src={url} alt={`Result: ${nameOf(url)}`} loading="lazy" />
            </a>
          ))}
        </div>
      )}
    </>
  );
}

const nameOf = (url: string): string => new URL(url).pathname.split('/').at(-1) || 'file';
