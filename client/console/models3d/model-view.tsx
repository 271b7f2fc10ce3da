import { useSignal } from '@preact/signals';
import { Box, Download, Rotate3d, RotateCcw } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';

interface ModelViewProps {
  id: string;
  url: string;
  imageUrl: string | undefined;
}

type Viewer = import('@google/model-viewer').ModelViewerElement;

/** A 3D object that can be turned, with its download. The viewer is loaded when an object is first shown. */
export function ModelView({ id, url, imageUrl }: ModelViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const viewer = useSignal<Viewer | undefined>(undefined);
  const isFailed = useSignal(false);
  const isRotating = useSignal(false);
  useEffect(() => {
    let isGone = false;
    const show = async () => {
      const { showModel } = await import('./show-model.ts');
      if (isGone || host.current === null) return;
      showModel(host.current, {
        url,
        alt: 'Generated object. Arrow keys turn it, plus and minus zoom.',
        onLoad: (loaded) => {
          viewer.value = loaded;
          rotate(!matchMedia('(prefers-reduced-motion: reduce)').matches);
        },
        onError: () => {
          isFailed.value = true;
        },
      });
    };
    show().catch(() => {
      isFailed.value = true;
    });
    return () => {
      isGone = true;
      host.current?.replaceChildren();
    };
  }, [url]);
  const rotate = (isOn: boolean) => {
    isRotating.value = isOn;
    if (viewer.value) viewer.value.autoRotate = isOn;
  };
  const size = viewer.value?.getDimensions();
  return (
    <>
      <div class="model-stage">
        <div ref={host} class="model-host" data-ready={viewer.value !== undefined} />
        {viewer.value === undefined && !isFailed.value && (
          <p class="model-loading secondary" role="status">
            Loading the object…
          </p>
        )}
        {isFailed.value && (
          <p class="model-loading" role="alert">
            The viewer cannot show this object. Download the file instead.
          </p>
        )}
      </div>
      <div class="row-between">
        <span class="row">
          <Button
            small
            icon={Rotate3d}
            pressed={isRotating.value}
            disabled={viewer.value === undefined}
            onClick={() => rotate(!isRotating.value)}
          >
            Turn
          </Button>
          <Button
            small
            icon={RotateCcw}
            disabled={viewer.value === undefined}
            onClick={() => {
              const { value: element } = viewer;
              if (element === undefined) return;
              element.cameraOrbit = '0deg 75deg 105%';
              element.resetTurntableRotation(0);
              element.jumpCameraToGoal();
            }}
          >
            Reset view
          </Button>
          {size && (
            <span class="secondary numeric">
              {[size.x, size.y, size.z].map((length) => length.toFixed(2)).join(' × ')} m
            </span>
          )}
        </span>
        <span class="row">
          {imageUrl && (
            <a class="button button-small" href={imageUrl} download={`${id}.webp`}>
              <Icon node={Download} />
              Image
            </a>
          )}
          <a class="button button-small" href={url} download={`${id}.glb`}>
            <Icon node={Box} />
            Download GLB
          </a>
        </span>
      </div>
    </>
  );
}
