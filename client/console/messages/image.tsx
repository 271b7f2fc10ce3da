import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { decodeBase64 } from '../../base64.ts';
import type { ImageBlock as InputImage } from './conversation.ts';
import type { OutputBlock } from './reply.ts';

type ImageBlock = InputImage | Extract<OutputBlock, { type: 'image' }>;

/** An image of a message. Inline data becomes an object URL, because the page may not load `data:` addresses. */
export function BlockImage({ block, alt }: { block: ImageBlock; alt: string }) {
  const address = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const source = sourceOf(block);
    if (typeof source === 'string') {
      address.value = source;
      return undefined;
    }
    const url = URL.createObjectURL(source);
    address.value = url;
    return () => URL.revokeObjectURL(url);
  }, [block]);
  return address.value === undefined ? null : <img class="chat-image" src={address.value} alt={alt} />;
}

/** Returns the address of an image, or its bytes. */
function sourceOf(block: ImageBlock): string | Blob {
  if ('source' in block) {
    const { source } = block;
    return source.type === 'url' ? source.url : toBlob(source.media_type, source.data);
  }
  if (block.inline_data !== undefined) return toBlob(block.inline_data.mime_type, block.inline_data.data);
  const url = block.image_url?.url ?? '';
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? url : toBlob(mediaType, data);
}

const toBlob = (mediaType: string, data: string) =>
  new Blob([Uint8Array.from(decodeBase64(data))], { type: mediaType });
