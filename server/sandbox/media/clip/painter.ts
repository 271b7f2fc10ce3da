import { toYuv } from '../drawing/colors.ts';
import { charAdvance, glyphHeight, textRuns } from '../drawing/text.ts';
import { blockSide, type Rectangle, YuvFrame } from '../drawing/yuv-frame.ts';
import type { ClipPlan } from './clip-plan.ts';
import { clipColors, drawLayers } from './layers.ts';
import { ballLane, counterPosition, textScale } from './layout.ts';

const white = [235, 128, 128] as const;
const black = [16, 128, 128] as const;
/** Fraction of the clip after which the wipe to the last frame starts from the left. */
const wipeStart = 0.2;

/** Paints the frames of a clip in order on one canvas and returns the changed macroblocks. */
export class ClipPainter {
  readonly canvas: YuvFrame;
  readonly #plan: ClipPlan;
  readonly #start: YuvFrame;
  readonly #end: YuvFrame;
  readonly #ball: readonly [number, number, number];
  readonly #radius: number;
  readonly #scale: number;
  #painted = { ball: emptyRectangle, counter: '', wiped: 0 };

  private constructor(plan: ClipPlan, { start, end }: { start: YuvFrame; end: YuvFrame }) {
    this.#plan = plan;
    this.#start = start;
    this.#end = end;
    this.canvas = new YuvFrame(plan.width, plan.height);
    this.#ball = toYuv(...clipColors(plan)[2]);
    this.#radius = Math.min(plan.width, plan.height) < 600 ? 16 : 24;
    this.#scale = textScale(plan);
    for (let block = 0; block < start.columns * start.rows; block++) this.canvas.copyBlock(start, block);
  }

  static async create(plan: ClipPlan): Promise<ClipPainter> {
    return new ClipPainter(plan, await drawLayers(plan));
  }

  /** Paints frame `index` over the previous one. Returns the changed macroblocks in order. */
  paint(index: number): number[] {
    const counter = counterText(index, this.#plan.frameRate);
    const ball = this.#ballAt(index);
    const wiped = this.#wipedColumns(index);
    const changed = new Set<number>();
    for (const part of [
      this.#painted.ball,
      ball,
      ...this.#changedCells(counter),
      columnsRectangle(this.#painted.wiped, wiped, this.#plan.height),
    ]) {
      for (const block of this.canvas.blocksIn(part)) changed.add(block);
    }
    const blocks = Array.from(changed).sort((first, second) => first - second);
    for (const block of blocks)
      this.canvas.copyBlock(block % this.canvas.columns < wiped ? this.#end : this.#start, block);
    this.#drawBall(ball);
    this.#drawCounter(counter);
    this.#painted = { ball, counter, wiped };
    return blocks;
  }

  /** Returns the number of macroblock columns that show the last frame. */
  #wipedColumns(index: number): number {
    if (this.#start === this.#end) return 0;
    const share = (index / Math.max(1, this.#plan.frames - 1) - wipeStart) / (1 - wipeStart);
    return Math.floor(Math.max(0, share) * this.canvas.columns);
  }

  #ballAt(index: number): Rectangle {
    const lane = ballLane(this.#plan);
    const seconds = index / this.#plan.frameRate;
    const phase = (this.#plan.seed % 628) / 100;
    const x = lane.x + (lane.width * (1 + Math.sin(seconds * 1.3 + phase))) / 2;
    const y = lane.y + (lane.height * (1 + Math.cos(seconds * 2.9 + phase))) / 2;
    const side = this.#radius * 2;
    return { x: even(x - this.#radius), y: even(y - this.#radius), width: side, height: side };
  }

  #drawBall({ x, y, width }: Rectangle): void {
    const radius = width / 2;
    for (let row = 0; row < width; row += 2) {
      const half = even(Math.sqrt(radius ** 2 - (row + 1 - radius) ** 2));
      this.canvas.fill({ x: x + radius - half, y: y + row, width: half * 2, height: 2 }, this.#ball);
    }
  }

  /** Returns the cells of the counter that differ from the painted ones. */
  #changedCells(counter: string): Rectangle[] {
    const cells: Rectangle[] = [];
    for (const [index, character] of Array.from(counter).entries())
      if (character !== this.#painted.counter[index]) cells.push(this.#cell(index, 1));
    return cells;
  }

  #cell(index: number, count: number): Rectangle {
    const { x, y } = counterPosition(this.#plan);
    const [width, height] = [charAdvance * this.#scale, (glyphHeight + 2) * this.#scale];
    return { x: x + index * width, y, width: width * count, height };
  }

  #drawCounter(counter: string): void {
    const scale = this.#scale;
    const cell = this.#cell(0, counter.length);
    this.canvas.fill(cell, black);
    for (const run of textRuns(counter)) {
      const x = cell.x + run.x * scale + scale / 2;
      this.canvas.fill(
        { x, y: cell.y + (run.y + 1) * scale, width: run.length * scale, height: scale },
        white,
      );
    }
  }
}

const emptyRectangle: Rectangle = { x: 0, y: 0, width: 0, height: 0 };

/** Formats the number of a frame and its time in seconds. */
function counterText(index: number, frameRate: number): string {
  return `${String(index).padStart(4, '0')} ${(index / frameRate).toFixed(2).padStart(5, '0')}`;
}

function columnsRectangle(from: number, to: number, height: number): Rectangle {
  return to > from ? { x: from * blockSide, y: 0, width: (to - from) * blockSide, height } : emptyRectangle;
}

function even(value: number): number {
  return 2 * Math.round(value / 2);
}
