import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import './virtual-table.css';

export interface Column<Row> {
  title: string;
  /** Aligns numbers. */
  isNumber?: boolean;
  /** Hides the column in a table below 860 (`wide`) or 560 CSS pixels (`medium`). */
  minWidth?: 'wide' | 'medium';
  cell: (row: Row) => ComponentChildren;
}

interface VirtualTableProps<Row> {
  /** Accessible name. */
  label: string;
  /** Adds the widths of the columns as a class. */
  className: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selectedKey: string | undefined;
  onSelect: (row: Row) => void;
  /** Called when the last rows are visible. */
  onEnd: () => void;
  /** Shown after the last row. */
  children?: ComponentChildren;
}

/** Height of a row in CSS pixels, as in `virtual-table.css`. */
const rowHeight = 52;
const headHeight = 37;
/** Rows above and below the visible part, so that fast scrolling shows no gaps. */
const overscan = 10;

/**
 * A table that renders only its visible rows. Rows that arrive at the top do not move the visible ones, unless the first
 * row is visible. Arrow keys select the next and the previous row.
 */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, className, columns, rows, keyOf, selectedKey, onSelect, onEnd, children } = props;
  const id = useId();
  const element = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const height = useSignal(600);
  useKeptPosition(element, rows, keyOf);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) height.value = entry.contentRect.height;
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);

  const first = Math.max(0, Math.floor(scrollTop.value / rowHeight) - overscan);
  const last = Math.min(rows.length, Math.ceil((scrollTop.value + height.value) / rowHeight) + overscan);
  const isAtEnd = last >= rows.length;
  useEffect(() => {
    if (isAtEnd) onEnd();
  }, [isAtEnd, rows.length]);

  const selected = rows.findIndex((row) => keyOf(row) === selectedKey);
  const move = (event: KeyboardEvent) => {
    const index = targetOf(event.key, selected, rows.length, Math.floor(height.value / rowHeight));
    const row = index === undefined ? undefined : rows[index];
    if (row === undefined || index === undefined || element.current === null) return;
    event.preventDefault();
    onSelect(row);
    const top = index * rowHeight;
    const bottom = top + rowHeight + headHeight;
    if (top < element.current.scrollTop) element.current.scrollTop = top;
    else if (bottom > element.current.scrollTop + element.current.clientHeight)
      element.current.scrollTop = bottom - element.current.clientHeight;
  };
  const isRendered = selected >= first && selected < last;
  return (
    <div
      ref={element}
      class={`virtual-table ${className}`}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={isRendered ? `${id}-${selected}` : undefined}
      tabIndex={0}
      onScroll={(event) => (scrollTop.value = event.currentTarget.scrollTop)}
      onKeyDown={move}
    >
      <div class="virtual-head" role="row" aria-rowindex={1}>
        {columns.map(({ title, isNumber, minWidth }) => (
          <div key={title} role="columnheader" class={classOf(isNumber, minWidth)}>
            {title}
          </div>
        ))}
      </div>
      <div
        role="rowgroup"
        style={{
          paddingTop: `${first * rowHeight}px`,
          paddingBottom: `${(rows.length - last) * rowHeight}px`,
        }}
      >
        {rows.slice(first, last).map((row, offset) => {
          const index = first + offset;
          return (
            <div
              key={keyOf(row)}
              id={`${id}-${index}`}
              class="virtual-row"
              role="row"
              aria-rowindex={index + 2}
              aria-selected={index === selected}
              onClick={() => onSelect(row)}
            >
              {columns.map(({ title, isNumber, minWidth, cell }) => (
                <div key={title} role="gridcell" class={classOf(isNumber, minWidth)}>
                  {cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {children}
    </div>
  );
}

/** Moves the scroll position with the first visible row when rows are inserted above it. */
function useKeptPosition<Row>(
  element: { current: HTMLDivElement | null },
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const old = before.current;
    before.current = rows;
    if (element.current === null || element.current.scrollTop === 0 || old === rows) return;
    const index = Math.floor(element.current.scrollTop / rowHeight);
    const anchor = old[index];
    if (anchor === undefined) return;
    const key = keyOf(anchor);
    const next = rows.findIndex((row) => keyOf(row) === key);
    if (next >= 0) element.current.scrollTop += (next - index) * rowHeight;
  }, [rows]);
}

/** Returns the row that a key selects. Undefined for other keys. */
function targetOf(key: string, selected: number, count: number, pageSize: number): number | undefined {
  const clamp = (index: number) => Math.max(0, Math.min(count - 1, index));
  switch (key) {
    case 'ArrowDown':
      return clamp(selected + 1);
    case 'ArrowUp':
      return clamp(selected - 1);
    case 'PageDown':
      return clamp(selected + pageSize);
    case 'PageUp':
      return clamp(selected - pageSize);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}

const classOf = (isNumber = false, minWidth?: string): string | undefined =>
  [isNumber && 'number', minWidth && `${minWidth}-only`].filter(Boolean).join(' ') || undefined;
