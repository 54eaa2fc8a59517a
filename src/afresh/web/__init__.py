"""The dashboard: pages in the browser over the same read models as the terminal. The only room that is asynchronous."""
