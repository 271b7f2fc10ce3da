import type { JsonObject } from '../../../openapi/tools/document.ts';
import { readDocument } from '../contract/read-document.ts';
import type { Frame } from './socket-client.ts';

interface Step {
  from: 'client' | 'server';
  event?: Frame;
  /** Base64 of a binary frame. */
  binary?: string;
}

/** A documented dialogue on a socket. */
export interface Dialogue {
  name: string;
  summary: string;
  channel: string;
  query: Readonly<Record<string, string>>;
  steps: readonly Step[];
  close?: { from: 'client' | 'server'; code: number; reason?: string };
}

/** Returns the documented dialogues of a channel. */
export const dialoguesOf = (channel: string): Dialogue[] =>
  Object.entries(readDocument('dialogues') as Record<string, JsonObject>)
    .map(([name, dialogue]) => ({ name, ...(dialogue as unknown as Omit<Dialogue, 'name'>) }))
    .filter((dialogue) => dialogue.channel === channel);
