import type { FileLinks } from '../../server/media/file-links.ts';

/** Links to files at the URLs of their providers, without relaying. */
export const directLinks: FileLinks = {
  baseUrl: undefined,
  relays: () => false,
  publicUrl: (url) => url,
};
