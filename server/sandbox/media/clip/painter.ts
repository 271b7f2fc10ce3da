import { toYuv } from '../drawing/colours.ts';
import { advance, glyphHeight, textRuns } from '../drawing/text.ts';
import { blockSide, type Rectangle, YuvPicture } from '../drawing/yuv-picture.ts';
import type { ClipPlan } from './clip-plan.ts';
import { clipColours, drawLayers } from './layers.ts';
import { ballLane, counterPlace, textScale } from './layout.ts';

const white = [235, 128, 128] as const;
const black = [16, 128, 128] as const;
/** Share of the clip after which the last frame begins to come in from the left. */
const wipeBegin = 0.2;

/** Paints the frames of a clip in order onto one canvas and reports which macroblocks have changed. */
export class ClipPainter {
  readonly canvas: YuvPicture;
  readonly #plan: ClipPlan;
  readonly #start: YuvPicture;
  readonly #end: YuvPicture;
  readonly #ball: readonly [number, number, number];
  readonly #radius: number;
  readonly #scale: number;
  #painted = { ball: nothing, counter: '', wiped: 0 };

  private constructor(plan: ClipPlan, { start, end }: { start: YuvPicture; end: YuvPicture }) {
    this.#plan = plan;
    this.#start = start;
    this.#end = end;
    this.canvas = new YuvPicture(plan.width, plan.height);
    this.#ball = toYuv(...clipColours(plan)[2]);
    this.#radius = Math.min(plan.width, plan.height) < 600 ? 16 : 24;
    this.#scale = textScale(plan);
    for (let block = 0; block < start.columns * start.rows; block++) this.canvas.copyBlock(start, block);
  }

  static async create(plan: ClipPlan): Promise<ClipPainter> {
    return new ClipPainter(plan, await drawLayers(plan));
  }

  /** Paints frame `index` over the one before; gives the changed macroblocks in order. */
  paint(index: number): number[] {
    const counter = counterText(index, this.#plan.frameRate);
    const ball = this.#ballAt(index);
    const wiped = this.#wipedColumns(index);
    const changed = new Set<number>();
    for (const part of [
      this.#painted.ball,
      ball,
      ...this.#changedCells(counter),
      columns(this.#painted.wiped, wiped, this.#plan.height),
    ]) {
      for (const block of this.canvas.blocksOf(part)) changed.add(block);
    }
    const blocks = Array.from(changed).sort((first, second) => first - second);
    for (const block of blocks)
      this.canvas.copyBlock(block % this.canvas.columns < wiped ? this.#end : this.#start, block);
    this.#drawBall(ball);
    this.#drawCounter(counter);
    this.#painted = { ball, counter, wiped };
    return blocks;
  }

  /** Macroblock columns that show the end. */
  #wipedColumns(index: number): number {
    if (this.#start === this.#end) return 0;
    const share = (index / Math.max(1, this.#plan.frames - 1) - wipeBegin) / (1 - wipeBegin);
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

  /** The characters of the counter that differ from what is painted. */
  #changedCells(counter: string): Rectangle[] {
    const cells: Rectangle[] = [];
    for (const [index, character] of Array.from(counter).entries())
      if (character !== this.#painted.counter[index]) cells.push(this.#cell(index, 1));
    return cells;
  }

  #cell(index: number, count: number): Rectangle {
    const { x, y } = counterPlace(this.#plan);
    const [width, height] = [advance * this.#scale, (glyphHeight + 2) * this.#scale];
    return { x: x + index * width, y, width: width * count, height };
  }

  #drawCounter(counter: string): void {
    const scale = this.#scale;
    const place = this.#cell(0, counter.length);
    this.canvas.fill(place, black);
    for (const run of textRuns(counter)) {
      const x = place.x + run.x * scale + scale / 2;
      this.canvas.fill(
        { x, y: place.y + (run.y + 1) * scale, width: run.length * scale, height: scale },
        white,
      );
    }
  }
}

const nothing: Rectangle = { x: 0, y: 0, width: 0, height: 0 };

/** Number of the frame, then its time in seconds. */
function counterText(index: number, frameRate: number): string {
  return `${String(index).padStart(4, '0')} ${(index / frameRate).toFixed(2).padStart(5, '0')}`;
}

function columns(from: number, to: number, height: number): Rectangle {
  return to > from ? { x: from * blockSide, y: 0, width: (to - from) * blockSide, height } : nothing;
}

function even(value: number): number {
  return 2 * Math.round(value / 2);
}
