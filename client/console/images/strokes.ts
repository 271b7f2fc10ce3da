/** A line of the brush. Width and points are relative to the image, from 0 to 1. */
export interface Stroke {
  width: number;
  points: readonly (readonly [x: number, y: number])[];
}

/** Draws strokes in one color over a cleared canvas. */
export function drawStrokes(canvas: HTMLCanvasElement, strokes: readonly Stroke[], color: string): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  context.strokeStyle = color;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  for (const { width: share, points } of strokes) {
    const [[x, y] = [0, 0]] = points;
    context.lineWidth = share * width;
    context.beginPath();
    context.moveTo(x * width, y * height);
    // The first point is repeated: a stroke of one point is a dot.
    for (const [nextX, nextY] of points) context.lineTo(nextX * width, nextY * height);
    context.stroke();
  }
}

/** Returns a mask of the size of a canvas, as the data URL of a PNG: white where it is painted, black elsewhere. */
export function maskOf({ width, height }: HTMLCanvasElement, strokes: readonly Stroke[]): string {
  const mask = document.createElement('canvas');
  mask.width = width;
  mask.height = height;
  drawStrokes(mask, strokes, '#ffffff');
  const context = mask.getContext('2d');
  if (context !== null) {
    context.globalCompositeOperation = 'destination-over';
    context.fillStyle = '#000000';
    context.fillRect(0, 0, width, height);
  }
  return mask.toDataURL('image/png');
}
