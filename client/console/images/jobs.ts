import { effect, type Signal, signal } from '@preact/signals';
import type { ImageJob } from '../../index.ts';
import { session } from '../session/session.ts';

/** An image job of this tab. */
export interface JobEntry {
  id: string;
  /** The prompt, or the button that created the job. */
  title: string;
  /** Request id of the call that created the job. */
  requestId?: string | undefined;
  /** Input that the job waits for before it starts. */
  modal?: Modal;
}

interface Modal {
  /** The image of the job whose button was pressed. */
  imageUrl: string;
  needsMask: boolean;
  prompt: string;
}

/** Holds the jobs of this tab, so that they survive a reload. It ends with the tab. */
const storageKey = 'unigate-image-jobs';
const maxEntries = 40;

/** The jobs of this tab, newest first. */
export const entries: Signal<readonly JobEntry[]> = signal(
  JSON.parse(sessionStorage.getItem(storageKey) ?? '[]') as readonly JobEntry[],
);

effect(() => {
  if (session.value === undefined) entries.value = [];
});

export function addEntry(entry: JobEntry): void {
  store([entry, ...entries.peek().filter(({ id }) => id !== entry.id)].slice(0, maxEntries));
}

export function removeEntry(id: string): void {
  store(entries.peek().filter((entry) => entry.id !== id));
}

/** Returns the title of a job that a button has created. */
export const titleOf = (button: string, prompt: string): string => `${button}: ${prompt}`;

/** Shows the prompt that a waiting job has received. */
export function retitle({ id, title }: JobEntry, prompt: string): void {
  const [button = ''] = title.split(': ');
  store(
    entries.peek().map((entry) => (entry.id === id ? { ...entry, title: titleOf(button, prompt) } : entry)),
  );
}

function store(list: readonly JobEntry[]): void {
  entries.value = list;
  sessionStorage.setItem(storageKey, JSON.stringify(list));
}

export type ImageButton = ImageJob['buttons'][number];

const reroll = /::reroll::/i;

/** Returns the text of a button. */
export const labelOf = ({ label, emoji, customId }: ImageButton): string =>
  label || (reroll.test(customId) ? 'Reroll' : (emoji ?? customId));

/** Returns the rows of a job's buttons: those of the four images of a grid, and all others. */
export function buttonRows(buttons: readonly ImageButton[]): [string, readonly ImageButton[]][] {
  const rowOf = ({ label }: ImageButton) => {
    if (/^U\d$/.test(label)) return 'Upscale image';
    return /^V\d$/.test(label) ? 'Vary image' : 'Actions';
  };
  return [...Map.groupBy(buttons, rowOf)].sort(([left], [right]) => order(left) - order(right));
}

const order = (row: string) => ['Upscale image', 'Vary image', 'Actions'].indexOf(row);

/** Returns whether the input of a button includes a mask. */
export const needsMask = ({ customId }: ImageButton): boolean => /::inpaint::/i.test(customId);
