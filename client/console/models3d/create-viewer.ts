import { ModelViewerElement } from '@google/model-viewer';

// Decoders of compressed files would come from another host, which the content security policy forbids.
ModelViewerElement.dracoDecoderLocation = './';
ModelViewerElement.ktx2TranscoderLocation = './';
ModelViewerElement.lottieLoaderLocation = './';

interface ViewerOptions {
  url: string;
  alt: string;
  onLoad: (viewer: ModelViewerElement) => void;
  onError: () => void;
}

/** Returns an element that shows a GLB file. The element is loaded when it is added to the page. */
export function createViewer({ url, alt, onLoad, onError }: ViewerOptions): ModelViewerElement {
  const viewer = new ModelViewerElement();
  viewer.alt = alt;
  viewer.cameraControls = true;
  viewer.touchAction = 'pan-y';
  viewer.environmentImage = 'neutral';
  viewer.shadowIntensity = 1;
  viewer.addEventListener('load', () => onLoad(viewer), { once: true });
  viewer.addEventListener('error', onError, { once: true });
  viewer.src = url;
  return viewer;
}
