/** What files are called and shown as, by the endings of their names. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['opus', 'audio/ogg'],
  ['ogg', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['pcm', 'audio/pcm'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['glb', 'model/gltf-binary'],
]);

/** Of subtitles. */
const textEndings: ReadonlySet<string> = new Set(['json', 'srt', 'vtt']);

const shownTypes: ReadonlySet<string> = new Set(mediaTypes.values());

/** The ending of an address's path in lower case; empty when it has none that a file would have. */
function endingOf(url: string): string {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(URL.parse(url)?.pathname ?? '')?.[1] ?? '';
  return ending.toLowerCase();
}

/** A name for the file that tells what it is, and nothing of its provider. */
export function nameOf(url: string): string {
  const ending = endingOf(url);
  const kind = mediaTypes.get(ending)?.split('/', 1)[0];
  if (kind !== undefined) return `${kind}.${ending}`;
  return textEndings.has(ending) ? `file.${ending}` : 'file';
}

/**
 * The media type that a file is handed out as. It is one that no browser runs as a page of this gateway, whatever the
 * provider reports.
 */
export function mediaTypeOf(url: string, reported: string): string {
  if (shownTypes.has(reported)) return reported;
  return mediaTypes.get(endingOf(url)) ?? 'application/octet-stream';
}

/** Whether the file is one of text, such as subtitles. */
export function isTextFile(url: string): boolean {
  return textEndings.has(endingOf(url));
}
