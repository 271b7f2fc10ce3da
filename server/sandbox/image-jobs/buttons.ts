import type { ImageJob } from './image-job.ts';

/** What a button does with the pictures of its task. */
export type Act =
  | { kind: 'upscale'; index: number }
  | { kind: 'variation'; index: number; strength: number }
  | { kind: 'reroll' }
  | { kind: 'finer'; strength: number }
  /** By how many times more is seen. */
  | { kind: 'zoom'; factor: number }
  /** By how many widths or heights of the picture. */
  | { kind: 'pan'; across: number; down: number }
  /** These two need a prompt, and the first one a mask, in a call of their own. */
  | { kind: 'inpaint' }
  | { kind: 'custom-zoom' };

interface Button {
  customId: string;
  label: string;
  emoji: string;
  act: Act;
}

/** Of how many pixels a picture of a grid makes one, across; what has been made four times as wide grows no more. */
const gridScale = 1;
const maxScale = 4;

const variationStrength = 0.25;
const [subtle, strong] = [0.12, 0.5];

/** The buttons of a finished task, in order. The words of a customId up to the task's own hash say what it does. */
export function buttonsOf({ hash, drawing }: ImageJob): Button[] {
  return drawing.scale === gridScale ? gridButtons(hash) : pictureButtons(hash, drawing.scale < maxScale);
}

function gridButtons(hash: string): Button[] {
  const numbers = [1, 2, 3, 4];
  return [
    ...numbers.map((number) =>
      button(`JOB::upsample::${number}::${hash}`, `U${number}`, '', { kind: 'upscale', index: number - 1 }),
    ),
    button(`JOB::reroll::0::${hash}::SOLO`, '', '🔄', { kind: 'reroll' }),
    ...numbers.map((number) =>
      button(`JOB::variation::${number}::${hash}`, `V${number}`, '', {
        kind: 'variation',
        index: number - 1,
        strength: variationStrength,
      }),
    ),
  ];
}

function pictureButtons(hash: string, grows: boolean): Button[] {
  const solo = (name: string, label: string, emoji: string, act: Act) =>
    button(`${name}::1::${hash}::SOLO`, label, emoji, act);
  const finer = (name: string, label: string, strength: number) =>
    solo(`JOB::upsample_v6_2x_${name}`, label, '🔍', { kind: 'finer', strength });
  const vary = (name: string, label: string, strength: number) =>
    solo(`JOB::${name}_variation`, label, '🪄', { kind: 'variation', index: 0, strength });
  const pan = (side: string, emoji: string, across: number, down: number) =>
    solo(`JOB::pan_${side}`, '', emoji, { kind: 'pan', across, down });
  return [
    ...(grows
      ? [finer('subtle', 'Upscale (Subtle)', 0), finer('creative', 'Upscale (Creative)', subtle)]
      : []),
    vary('low', 'Vary (Subtle)', subtle),
    vary('high', 'Vary (Strong)', strong),
    solo('Inpaint', 'Vary (Region)', '🖌️', { kind: 'inpaint' }),
    solo('Outpaint::50', 'Zoom Out 2x', '🔍', { kind: 'zoom', factor: 2 }),
    solo('Outpaint::75', 'Zoom Out 1.5x', '🔍', { kind: 'zoom', factor: 1.5 }),
    button(`CustomZoom::${hash}`, 'Custom Zoom', '🔍', { kind: 'custom-zoom' }),
    pan('left', '⬅️', -0.5, 0),
    pan('right', '➡️', 0.5, 0),
    pan('up', '⬆️', 0, -0.5),
    pan('down', '⬇️', 0, 0.5),
  ];
}

function button(name: string, label: string, emoji: string, act: Act): Button {
  return { customId: `IJ::${name}`, label, emoji, act };
}
