const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = (byte << 24) >>> 0;
  for (let bit = 0; bit < 8; bit++) value = ((value << 1) ^ (value & 0x80000000 ? 0x04c11db7 : 0)) >>> 0;
  return value;
});

/** Checksum of an Ogg page whose checksum field is zero. */
export function oggChecksum(page: Uint8Array): number {
  let value = 0;
  for (const byte of page) value = ((value << 8) ^ (crcTable[(value >>> 24) ^ byte] ?? 0)) >>> 0;
  return value;
}

export interface OggPage {
  packets: readonly Uint8Array[];
  /** Position of the end of the page's last packet, in samples. */
  granule: number;
  serial: number;
  sequence: number;
  first?: boolean;
  last?: boolean;
}

/** Packets that fit one page whatever their size: a page has 255 lacing values and a 20 ms packet needs at most 6. */
export const packetsPerPage = 42;

/** One page of whole packets; their lacing values must not exceed 255. */
export function oggPage({ packets, granule, serial, sequence, first, last }: OggPage): Buffer {
  const lacing = packets.flatMap(({ length }) => [
    ...Array(Math.floor(length / 255)).fill(255),
    length % 255,
  ]);
  if (lacing.length > 255) throw new RangeError('The packets do not fit one Ogg page');
  const header = Buffer.alloc(27 + lacing.length);
  header.write('OggS', 0, 'latin1');
  header[5] = (first ? 2 : 0) | (last ? 4 : 0);
  header.writeBigUInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(serial, 14);
  header.writeUInt32LE(sequence, 18);
  header[26] = lacing.length;
  header.set(lacing, 27);
  const page = Buffer.concat([header, ...packets]);
  page.writeUInt32LE(oggChecksum(page), 22);
  return page;
}
