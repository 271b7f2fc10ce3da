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

/** Extensions of subtitle files. */
const textExtensions: ReadonlySet<string> = new Set(['json', 'srt', 'vtt']);

const allowedTypes: ReadonlySet<string> = new Set(mediaTypes.values());

/** File extension of a URL in lower case. Empty if there is none. */
function extensionOf(url: string): string {
  const extension = /\.([a-z0-9]{1,8})$/i.exec(URL.parse(url)?.pathname ?? '')?.[1] ?? '';
  return extension.toLowerCase();
}

/** A file name that shows the kind of the file and hides its provider. */
export function fileNameFor(url: string): string {
  const extension = extensionOf(url);
  const kind = mediaTypes.get(extension)?.split('/', 1)[0];
  if (kind !== undefined) return `${kind}.${extension}`;
  return textExtensions.has(extension) ? `file.${extension}` : 'file';
}

/** The media type that a file is served with: never one that a browser would execute as a page of the gateway. */
export function safeMediaType(url: string, reported: string): string {
  if (allowedTypes.has(reported)) return reported;
  return mediaTypes.get(extensionOf(url)) ?? 'application/octet-stream';
}

export function isTextFile(url: string): boolean {
  return textExtensions.has(extensionOf(url));
}
