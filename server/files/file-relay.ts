import type { FileLinks } from './file-links.ts';

/** Stands between clients and the files that providers name. */
export class FileRelay {
  /** For a client that reaches the gateway at `address`; undefined: nobody says. */
  linksAt(address: string | undefined): FileLinks {
    return { address, shown: (url) => url };
  }
}
