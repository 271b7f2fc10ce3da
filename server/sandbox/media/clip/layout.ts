import type { Rectangle } from '../drawing/yuv-frame.ts';
import type { FrameSize } from './clip-plan.ts';

/**
 * Layout of a frame, from top to bottom: the counter and the watermark, the references, the lane in which the ball
 * moves, the caption.
 */

/** Returns the side of a glyph pixel. */
export function textScale({ width, height }: FrameSize): number {
  return Math.max(2, 2 * Math.floor(Math.min(width, height) / 320));
}

export function counterPosition(size: FrameSize): { x: number; y: number } {
  const margin = even(size.height * 0.03);
  return { x: margin, y: margin };
}

/** Returns one rectangle per reference, in rows from left to right. */
export function referenceTiles({ width, height }: FrameSize, count: number): Rectangle[] {
  const area = { x: width * 0.05, y: height * 0.14, width: width * 0.9, height: height * 0.48 };
  // The number of columns makes the tiles approximately square.
  const columns = Math.min(count, Math.max(1, Math.round(Math.sqrt((count * area.width) / area.height))));
  const rows = Math.ceil(count / columns);
  const [across, down] = [area.width / columns, area.height / rows];
  return Array.from({ length: count }, (_, index) => ({
    x: Math.round(area.x + (index % columns) * across + across * 0.04),
    y: Math.round(area.y + Math.floor(index / columns) * down + down * 0.04),
    width: Math.round(across * 0.92),
    height: Math.round(down * 0.92),
  }));
}

/** Returns the rectangle in which the center of the ball moves. */
export function ballLane({ width, height }: FrameSize): Rectangle {
  return { x: width * 0.1, y: height * 0.68, width: width * 0.8, height: height * 0.06 };
}

export function captionArea({ width, height }: FrameSize): Rectangle {
  const top = even(height * 0.79);
  return { x: 0, y: top, width, height: height - top };
}

export function watermarkArea(
  { width, height }: FrameSize,
  textWidth: number,
  textHeight: number,
): Rectangle {
  const margin = even(height * 0.03);
  return { x: width - margin - textWidth, y: margin, width: textWidth, height: textHeight };
}

function even(value: number): number {
  return 2 * Math.round(value / 2);
}
