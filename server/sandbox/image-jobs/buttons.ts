import type { ImageJob } from './image-job.ts';

/** Effect of a button on the images of its task. */
export type ButtonEffect =
  | { kind: 'upscale'; index: number }
  | { kind: 'variation'; index: number; strength: number }
  | { kind: 'reroll' }
  | { kind: 'finer'; strength: number }
  /** `factor`: ratio of the new view to the old one. */
  | { kind: 'zoom'; factor: number }
  /** Offsets in widths and heights of the image. */
  | { kind: 'pan'; across: number; down: number }
  /** Both require the modal request with a prompt, and `inpaint` with a mask. */
  | { kind: 'inpaint' }
  | { kind: 'custom-zoom' };

interface Button {
  customId: string;
  label: string;
  emoji: string;
  effect: ButtonEffect;
}

/** Width of an image relative to an image of a grid. An image with the maximum scale cannot be upscaled. */
const gridScale = 1;
const maxScale = 4;

const variationStrength = 0.25;
const [subtle, strong] = [0.12, 0.5];

/** Returns the buttons of a finished task in order. The part of a customId before the hash identifies the effect. */
export function createButtons({ hash, drawing }: ImageJob): Button[] {
  return drawing.scale === gridScale
    ? createGridButtons(hash)
    : createImageButtons(hash, drawing.scale < maxScale);
}

function createGridButtons(hash: string): Button[] {
  const numbers = [1, 2, 3, 4];
  return [
    ...numbers.map((number) =>
      createButton(`JOB::upsample::${number}::${hash}`, `U${number}`, '', {
        kind: 'upscale',
        index: number - 1,
      }),
    ),
    createButton(`JOB::reroll::0::${hash}::SOLO`, '', '🔄', { kind: 'reroll' }),
    ...numbers.map((number) =>
      createButton(`JOB::variation::${number}::${hash}`, `V${number}`, '', {
        kind: 'variation',
        index: number - 1,
        strength: variationStrength,
      }),
    ),
  ];
}

function createImageButtons(hash: string, canUpscale: boolean): Button[] {
  const solo = (name: string, label: string, emoji: string, effect: ButtonEffect) =>
    createButton(`${name}::1::${hash}::SOLO`, label, emoji, effect);
  const finer = (name: string, label: string, strength: number) =>
    solo(`JOB::upsample_v6_2x_${name}`, label, '🔍', { kind: 'finer', strength });
  const vary = (name: string, label: string, strength: number) =>
    solo(`JOB::${name}_variation`, label, '🪄', { kind: 'variation', index: 0, strength });
  const pan = (side: string, emoji: string, across: number, down: number) =>
    solo(`JOB::pan_${side}`, '', emoji, { kind: 'pan', across, down });
  return [
    ...(canUpscale
      ? [finer('subtle', 'Upscale (Subtle)', 0), finer('creative', 'Upscale (Creative)', subtle)]
      : []),
    vary('low', 'Vary (Subtle)', subtle),
    vary('high', 'Vary (Strong)', strong),
    solo('Inpaint', 'Vary (Region)', '🖌️', { kind: 'inpaint' }),
    solo('Outpaint::50', 'Zoom Out 2x', '🔍', { kind: 'zoom', factor: 2 }),
    solo('Outpaint::75', 'Zoom Out 1.5x', '🔍', { kind: 'zoom', factor: 1.5 }),
    createButton(`CustomZoom::${hash}`, 'Custom Zoom', '🔍', { kind: 'custom-zoom' }),
    pan('left', '⬅️', -0.5, 0),
    pan('right', '➡️', 0.5, 0),
    pan('up', '⬆️', 0, -0.5),
    pan('down', '⬇️', 0, 0.5),
  ];
}

function createButton(name: string, label: string, emoji: string, effect: ButtonEffect): Button {
  return { customId: `IJ::${name}`, label, emoji, effect };
}
