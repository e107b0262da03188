// Search from files: browsers start no worker from file://, so its script runs in a hidden frame there.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      const script = inside.document.createElement("script");
      script.src = url;
      // The worker's script sends what it has to say to its own window's parent: to us.
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      inside.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => new Promise((done, failed) => {
          const more = Object.assign(inside.document.createElement("script"), { src: next, onload: done, onerror: failed });
          inside.document.body.appendChild(more);
        })), Promise.resolve());
      this.loaded = new Promise((done) => { script.onload = done; });
      inside.document.body.appendChild(script);
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.loaded.then(() => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
