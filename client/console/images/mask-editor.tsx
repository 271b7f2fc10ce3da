import { useSignal } from '@preact/signals';
import { Eraser, Square, Undo2 } from 'lucide';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { drawStrokes, maskOf, type Stroke } from './strokes.ts';

interface MaskEditorProps {
  imageUrl: string;
  /** Called with the mask as the data URL of a PNG. Undefined while nothing is painted. */
  onChange: (mask: string | undefined) => void;
}

/** A brush that paints the area to redraw over an image. */
export function MaskEditor({ imageUrl, onChange }: MaskEditorProps) {
  const id = useId();
  const canvas = useRef<HTMLCanvasElement>(null);
  const strokes = useSignal<readonly Stroke[]>([]);
  /** Width of the brush in percent of the image. */
  const width = useSignal(12);
  const isDrawing = useRef(false);
  useEffect(() => {
    if (canvas.current !== null) drawStrokes(canvas.current, strokes.value, 'rgb(79 214 194 / 60%)');
  }, [strokes.value]);
  const change = (next: readonly Stroke[]) => {
    strokes.value = next;
    const { current: element } = canvas;
    if (element !== null) onChange(next.length === 0 ? undefined : maskOf(element, next));
  };
  /** Position of the pointer, from 0 to 1. */
  const pointOf = ({ offsetX, offsetY }: PointerEvent): [number, number] => {
    const { clientWidth = 1, clientHeight = 1 } = canvas.current ?? {};
    return [offsetX / clientWidth, offsetY / clientHeight];
  };
  const finish = () => {
    if (!isDrawing.current) return;
    isDrawing.current = false;
    change(strokes.peek());
  };
  return (
    <div class="stack">
      <div class="mask-stage">
        <img
          src={imageUrl}
          alt="Source"
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
            if (canvas.current === null) return;
            canvas.current.width = naturalWidth;
            canvas.current.height = naturalHeight;
            drawStrokes(canvas.current, strokes.peek(), 'rgb(79 214 194 / 60%)');
          }}
        />
        <canvas
          ref={canvas}
          role="img"
          aria-label="Painted area"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            isDrawing.current = true;
            strokes.value = [...strokes.value, { width: width.value / 100, points: [pointOf(event)] }];
          }}
          onPointerMove={(event) => {
            const last = strokes.peek().at(-1);
            if (!isDrawing.current || last === undefined) return;
            const longer = { ...last, points: [...last.points, pointOf(event)] };
            strokes.value = [...strokes.peek().slice(0, -1), longer];
          }}
          onPointerUp={finish}
          onPointerCancel={finish}
        />
      </div>
      <div class="row">
        <label for={id}>Brush</label>
        <input
          id={id}
          type="range"
          min={2}
          max={40}
          value={width.value}
          onInput={(event) => {
            width.value = event.currentTarget.valueAsNumber;
          }}
        />
        <Button
          small
          icon={Undo2}
          disabled={strokes.value.length === 0}
          onClick={() => change(strokes.value.slice(0, -1))}
        >
          Undo
        </Button>
        <Button small icon={Eraser} disabled={strokes.value.length === 0} onClick={() => change([])}>
          Clear
        </Button>
        <Button small icon={Square} onClick={() => change([{ width: 2, points: [[0.5, 0.5]] }])}>
          Whole image
        </Button>
      </div>
    </div>
  );
}
